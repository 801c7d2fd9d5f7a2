/** Signs of events at the lower end of their lines, as the icons of the page. */

/** Draws with the stroke's colour. `x`, `bottom`: middle of the lower edge. `px`: pixels of the canvas for one of CSS. */
export type Sign = (context: CanvasRenderingContext2D, px: number, x: number, bottom: number) => void;

const RADIUS_PX = 4;

export const drawCross: Sign = (context, px, x, bottom) => {
  const radius = RADIUS_PX * px;
  const y = bottom - radius - px;
  context.lineWidth = 2 * px;
  context.beginPath();
  context.moveTo(x - radius, y - radius);
  context.lineTo(x + radius, y + radius);
  context.moveTo(x + radius, y - radius);
  context.lineTo(x - radius, y + radius);
  context.stroke();
};

/** An arrow that turns back to its begin. */
export const drawRestart: Sign = (context, px, x, bottom) => {
  const radius = RADIUS_PX * px;
  const y = bottom - radius - px;
  context.lineWidth = 1.5 * px;
  context.beginPath();
  context.arc(x, y, radius, -0.2 * Math.PI, 1.5 * Math.PI);
  context.moveTo(x - 2 * px, y - radius - 2 * px);
  context.lineTo(x + px, y - radius);
  context.lineTo(x - 2 * px, y - radius + 2 * px);
  context.stroke();
};
