import roles from '../lexicon/roles.json' with { type: 'json' };

/** Whose a field is. */
export type Role = 'seller' | 'buyer' | 'delivery_party' | 'payee';

const WORDS: Readonly<Record<Role, readonly string[]>> = roles;
const ROLES = Object.keys(WORDS) as readonly Role[];

/** The role that words name; the first of them that names one decides. */
export function roleIn(words: readonly string[]): Role | undefined {
  if (words.includes('from') && words.includes('bill')) return 'seller';
  for (const word of words) {
    const role = ROLES.find((one) => WORDS[one].includes(word));
    if (role !== undefined) return role;
  }
  return undefined;
}

/** The words without those that name a role. */
export const withoutRole = (words: readonly string[]): readonly string[] =>
  words.filter((word) => !ROLES.some((role) => WORDS[role].includes(word)));
