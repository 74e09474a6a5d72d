// Makes elements: h for HTML, s for SVG. Attributes that begin with "on" are listeners; null and false are left out.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child);
  }
  return element;
}

export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function remember(name, value) {
  try {
    localStorage.setItem(`kagetsu.${name}`, value);
  } catch {
    // Without storage the page starts with its defaults.
  }
}

export function recall(name) {
  try {
    return localStorage.getItem(`kagetsu.${name}`);
  } catch {
    return null;
  }
}

const ICONS = {
  start: "M6 5v14M19 6l-9 6 9 6z", back: "M16 5l-9 7 9 7z", forward: "M8 5l9 7-9 7z", end: "M18 5v14M5 6l9 6-9 6z",
  copy: "M10 14a4 4 0 0 0 6 .4l3-3a4.2 4.2 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.4l-3 3a4.2 4.2 0 0 0 6 6l1-1",
  flip: "M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4", numbers: "M10 4L8 20M16 4l-2 16M4 9h16M3.5 15h16",
  menu: "M4 7h16M4 12h16M4 17h16", edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3", gear: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M5.600 18.400l2.100-2.100M16.300 7.700l2.100-2.100",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18", light: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M5 19l1.7-1.7M17.3 6.7L19 5",
  dark: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z", key: "M14.500 9.500a4.500 4.500 0 1 0-3.200 4.300L13 12h2.500v-2.500H18V7M7.500 9.500h.1", help: "M8 8.4a4 4 0 1 1 5.6 3.7c-1.100.5-1.600 1.300-1.600 2.900M12 19.300v.2",
};

/** An icon for a button. */
export function icon(name) {
  const isFull = ["start", "back", "forward", "end"].includes(name);
  return s("svg", { viewBox: "0 0 24 24", class: isFull ? "sign full" : "sign", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}
