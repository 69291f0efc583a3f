/** Left, top, right, bottom, in the measure of its page. */
export type Box = readonly [number, number, number, number];
