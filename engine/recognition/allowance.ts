import { setImmediate as turn } from 'node:timers/promises';

/** Whether the time of a job is nearly used up. What was not begun by then is left, and said to be. */
export interface Hurry {
  isOn: boolean;
}

/** As of now: a message that came while the process was at work is heard first. */
export const isLate = async (hurry: Hurry | undefined): Promise<boolean> => {
  if (hurry === undefined) return false;
  // The first turn may be the rest of one that began before the message came.
  await turn();
  await turn();
  return hurry.isOn;
};

/** CPU time that the second engine may take of one document, in milliseconds. It is spent page by page. */
export interface Allowance {
  leftMs: number;
}

/** What the second engine takes on a machine with little else to do is a third of this. */
const LINE_PIXEL_MS = 0.2;
const MAP_PIXEL_MS = 0.0012;
/** What the first engine takes for a dense page. */
const PAGE_MS = 2300;
const DEADLINE_MS = 120_000;

/**
 * Half of what the first engine leaves of the deadline: the second must never cost a document that the first
 * could have read in time. It is charged by the size of what is read, not by a clock, so that the same file
 * always gives the same answer.
 */
export const allowanceFor = (pages: number, deadlineMs = DEADLINE_MS): Allowance => ({
  leftMs: Math.max(0, 0.5 * (deadlineMs - pages * PAGE_MS)),
});

/** Takes what finding lines on a picture of so many pixels costs, if so much is left. */
export const paidForMap = (allowance: Allowance, pixels: number): boolean =>
  paid(allowance, pixels * MAP_PIXEL_MS);

/** Takes what reading a line of so many pixels of width costs, if so much is left. */
export const paidForLine = (allowance: Allowance, pixels: number): boolean =>
  paid(allowance, pixels * LINE_PIXEL_MS);

function paid(allowance: Allowance, ms: number): boolean {
  if (ms > allowance.leftMs) return false;
  allowance.leftMs -= ms;
  return true;
}
