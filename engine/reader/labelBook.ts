/** The labels of a document, each once, as lists of its words' numbers. Label 0 is empty. */
export interface LabelBook {
  /** The number of a label, by its words. */
  readonly labelOf: (words: readonly string[]) => number;
  readonly words: readonly string[];
  readonly labels: readonly (readonly number[])[];
}

export function newLabelBook(): LabelBook {
  const [words, numbers] = [[] as string[], new Map<string, number>()];
  const [labels, known] = [[[]] as (readonly number[])[], new Map<string, number>([['', 0]])];
  const numberOf = (word: string): number => {
    const number = numbers.get(word) ?? words.length;
    if (number === words.length) {
      numbers.set(word, number);
      words.push(word);
    }
    return number;
  };
  const labelOf = (said: readonly string[]): number => {
    const key = said.join(' ');
    const number = known.get(key) ?? labels.length;
    if (number === labels.length) {
      known.set(key, number);
      labels.push(said.map(numberOf));
    }
    return number;
  };
  return { labelOf, words, labels };
}
