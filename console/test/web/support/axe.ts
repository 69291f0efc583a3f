import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const lookedAt = async (page: Page): Promise<readonly string[]> => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
};

/** Serious and worse findings of a page as it is shown, one line each. What fades in or out is looked at after that. */
export const axeFindings = async (page: Page): Promise<readonly string[]> => {
  const found = await lookedAt(page);
  if (found.length === 0) return found;
  await page.evaluate(async () => {
    const moving = document
      .getAnimations()
      .filter(({ effect }) => effect?.getTiming().iterations !== Infinity);
    await Promise.allSettled(moving.map(({ finished }) => finished));
  });
  return lookedAt(page);
};
