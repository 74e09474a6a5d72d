// Lists the texts of the page whose contrast against their ground is below WCAG AA, as
// "text: ratio".
(() => {
  const parse = (text) => {
    const numbers = (text.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
    const [r, g, b, a = 1] = numbers;
    return text.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const ground = (element) => {
    const chain = [];
    for (let at = element; at; at = at.parentElement) chain.push(parse(getComputedStyle(at).backgroundColor));
    const page = document.documentElement.dataset.theme === "dark" ? [0, 0, 0, 1] : [255, 255, 255, 1];
    return chain.reverse().reduce((below, layer) => over(layer, below), page);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faults = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const style = getComputedStyle(element);
    const isFaded = element.closest(":disabled, svg, option, .after, .hidden, .skip") || style.visibility === "hidden";
    if (!text || isFaded || element.getClientRects().length === 0) continue;
    const behind = ground(element);
    const [light, dark] = [luminance(over(parse(style.color), behind)), luminance(behind)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) faults.push(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return [...new Set(faults)];
})()
