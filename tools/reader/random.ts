/** Chance that can be repeated: the same key gives the same numbers (mulberry32, keyed by FNV-1a). */
export class Random {
  private state: number;

  constructor(key: string) {
    let hash = 2166136261;
    for (const letter of key) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 16777619);
    this.state = hash >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T {
    const one = list[Math.floor(this.next() * list.length)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const all = [...list];
    for (let i = all.length - 1; i > 0; i -= 1) {
      const j = this.int(0, i);
      [all[i], all[j]] = [all[j] as T, all[i] as T];
    }
    return all;
  }

  /** So many of a list, in any order. */
  some<T>(list: readonly T[], count: number): T[] {
    return this.shuffled(list).slice(0, count);
  }

  /** `#` a digit, `%` none of 0, `@` a capital letter. */
  filled(pattern: string): string {
    return pattern
      .replace(/#/g, () => String(this.int(0, 9)))
      .replace(/%/g, () => String(this.int(1, 9)))
      .replace(/@/g, () => this.pick([...'ABCDEFGHKLMNPRSTUVWXYZ']));
  }
}
