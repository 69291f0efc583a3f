/** Longer texts are compared by their beginnings. */
const CHARACTERS_MAX = 160;

/**
 * 1 − edit distance / length of the longer text, 0..1; 0 where it cannot reach `least`, which is told from
 * lengths and letters alone.
 */
export function similarityOf(one: string, other: string, least: number): number {
  const [a, b] = [one.slice(0, CHARACTERS_MAX), other.slice(0, CHARACTERS_MAX)];
  const longest = Math.max(a.length, b.length);
  if (a === b) return 1;
  if (Math.min(a.length, b.length) < least * longest || inCommon(a, b) < least * longest) return 0;
  const reached = 1 - editDistance(a, b) / longest;
  return reached >= least ? reached : 0;
}

/** Letters that both texts have, wherever they stand. */
function inCommon(a: string, b: string): number {
  const counts = new Map<string, number>();
  for (const letter of a) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let common = 0;
  for (const letter of b) {
    const left = counts.get(letter) ?? 0;
    if (left > 0) common += 1;
    counts.set(letter, left - 1);
  }
  return common;
}

function editDistance(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min((before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, changed));
    }
    before = row;
  }
  return before[b.length] ?? 0;
}
