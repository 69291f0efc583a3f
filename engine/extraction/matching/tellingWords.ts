/** Whether a word tells anything, asked of many words by many: each is answered once, and remembered in a byte. */
export interface TellingWords<Asker extends object> {
  readonly tells: (asker: Asker, word: string) => boolean;
}

const [UNKNOWN, NO, YES] = [0, 1, 2];
const FIRST_SIZE = 1024;

/** `judge` says it of a word; what it says must not change. Make one for each document, for it keeps its words. */
export function tellingWords<Asker extends object>(
  judge: (asker: Asker, word: string) => boolean,
): TellingWords<Asker> {
  const numbers = new Map<string, number>();
  const answers = new WeakMap<Asker, Uint8Array>();
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size;
    numbers.set(word, known);
    return known;
  };
  const roomFor = (asker: Asker, number: number): Uint8Array => {
    const known = answers.get(asker);
    if (known !== undefined && number < known.length) return known;
    const grown = new Uint8Array(Math.max(FIRST_SIZE, 2 * number));
    grown.set(known ?? []);
    answers.set(asker, grown);
    return grown;
  };
  return {
    tells: (asker, word) => {
      const number = numberOf(word);
      const said = roomFor(asker, number);
      if (said[number] === UNKNOWN) said[number] = judge(asker, word) ? YES : NO;
      return said[number] === YES;
    },
  };
}
