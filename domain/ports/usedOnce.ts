/**
 * Words that count once: a session that was ended, a link that was followed. Each is kept for as long as what it
 * names would still be taken. Every method throws when it cannot be told.
 */
export interface UsedOnce {
  /** False when the word was used before. */
  use(word: string, untilMs: number): Promise<boolean>;
  isUsed(word: string): Promise<boolean>;
  /** Removes words that nothing asks for any more; gives how many. */
  purge(): Promise<number>;
}
