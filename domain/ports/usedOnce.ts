/**
 * Words that count once: a session that was ended, a link that was followed. Each is kept for as long as what it
 * names would still be taken. Every method throws when it cannot be told.
 */
export interface UsedOnce {
  /** False when the word was used before. What it answers outlives a crash of the process. */
  use(word: string, untilMs: number): Promise<boolean>;
  isUsed(word: string): Promise<boolean>;
  /** Names this memory: one that was made anew has another name, and knows nothing of what was used before. */
  epoch(): Promise<string>;
  /** Removes words that nothing asks for any more; gives how many. */
  purge(): Promise<number>;
}
