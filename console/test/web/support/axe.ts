import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const lookedAt = async (page: Page): Promise<readonly string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
};

/** Waits for what fades in or out, and tells how much there was. */
const stilled = (page: Page): Promise<number> =>
  page.evaluate(async () => {
    const moving = document
      .getAnimations()
      .filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    await Promise.allSettled(moving.map(({ finished }) => finished));
    return moving.length;
  });

/**
 * Serious and worse findings of a page as it is shown, one line each. A toast comes and goes when it likes, and has
 * too little contrast while it fades: what counts was found by two looks on end, with nothing that moved about them.
 */
export const axeFindings = async (page: Page): Promise<readonly string[]> => {
  let before: readonly string[] = [];
  for (;;) {
    await stilled(page);
    const found = await lookedAt(page);
    const again = found.filter((one) => before.includes(one));
    if (found.length === 0 || ((await stilled(page)) === 0 && again.length > 0)) return again;
    before = found;
  }
};
