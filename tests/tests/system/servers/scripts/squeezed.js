[...document.querySelectorAll('caption, th, td, p, li, h2, h3, label, button')]
  .filter((e) => { const { width, height } = e.getBoundingClientRect();
  return e.innerText.trim().length > 5 && width > 0 && width < 60 && height > 70; }).map((e) => e.innerText)
  .concat([...document.querySelectorAll('[role=tab][aria-selected=true]')].filter((e) => {
  const { left, right } = e.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; }).map((e) => e.id))
