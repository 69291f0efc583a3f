/** Points (1/72 inch) from the top left of the page: x0, y0, x1, y1. */
export type Box = readonly [number, number, number, number];
