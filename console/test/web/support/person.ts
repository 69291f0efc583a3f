import type { Locator, Page } from 'playwright-core';

/** What a person does to a page, counted: clicks, fields that are filled, and keys beside those. */
export const person = (page?: Page) => {
  const did = { clicks: 0, typed: 0 };
  let keys = 0;
  return {
    did,
    keys: () => keys,
    click: async (what: Locator): Promise<void> => {
      await what.click();
      did.clicks += 1;
    },
    type: async (into: Locator, typed: string): Promise<void> => {
      await into.fill(typed);
      did.typed += 1;
    },
    press: async (key: string): Promise<void> => {
      await page?.keyboard.press(key);
      keys += 1;
    },
  };
};
