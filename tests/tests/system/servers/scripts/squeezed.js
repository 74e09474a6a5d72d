[...document.querySelectorAll('caption, th, td, p, li, h2, h3, label, button')]
  .filter((e) => { const { width, height } = e.getBoundingClientRect();
  return e.innerText.trim().length > 5 && width > 0 && width < 60 && height > 70; }).map((e) => e.innerText)
  .concat([...document.querySelectorAll('[role=tab][aria-selected=true]')].filter((e) => {
  const { left, right } = e.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; }).map((e) => e.id))
  .concat([...document.querySelectorAll('.head .brand, .head button')].filter((e) =>
  e.getBoundingClientRect().height > 48).map((e) => e.id || e.className))
  .concat([...document.querySelectorAll('.mark:has(circle)')].filter((mark) => {
  const [disc, letters] = ['circle', 'text'].map((part) => mark.querySelector(part).getBBox().width);
  return letters > disc + 1; }).map((mark) => mark.textContent))
