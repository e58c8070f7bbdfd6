// Runs inside the page: texts whose contrast to what is behind them is below 4.5, WCAG 2.1, 1.4.3.

export function weakTexts() {
  const parse = (text) => {
    const numbers = text.match(/[\d.]+(?:e-?\d+)?/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((each) => each * scale), numbers[3] ?? 1];
  };
  const over = (front, back) => front.slice(0, 3).map((each, i) => each * front[3] + back[i] * (1 - front[3]));
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) layers.push(parse(getComputedStyle(each).backgroundColor));
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((each) => (each / 255 <= 0.04045 ? each / 255 / 12.92 : ((each / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
  };
  const weak = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let seen = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest(".unseen")) continue;
    const back = behind(element), front = over(parse(getComputedStyle(element).color), back);
    seen++;
    if (contrast(front, back) < 4.5) weak.push([walker.currentNode.data.slice(0, 30), element.className, contrast(front, back).toFixed(2)]);
  }
  return { seen, weak };
}
