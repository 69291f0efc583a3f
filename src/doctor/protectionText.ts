import { ok, warning, type Verdict } from './check.ts';

/** What keeps the processes that parse documents from everything else, as it was tried on this machine. */
export interface ProtectionFacts {
  readonly launcher: 'landlock' | 'bubblewrap' | 'none';
  readonly permissionModel: boolean;
  readonly open: readonly string[];
}

const LAUNCHERS: Readonly<Record<ProtectionFacts['launcher'], string>> = {
  landlock: 'Landlock and seccomp',
  bubblewrap: 'bubblewrap',
  none: 'nothing of the system',
};

/** A line for the banner: `confined by Landlock and seccomp, Node's permission model`. */
export const protectionText = ({ launcher, permissionModel, open }: ProtectionFacts): string => {
  const by = [
    ...(launcher === 'none' ? [] : [LAUNCHERS[launcher]]),
    ...(permissionModel ? ["Node's permission model"] : []),
  ];
  const what = by.length === 0 ? 'not confined' : `confined by ${by.join(', ')}`;
  return open.length === 0 ? what : `${what}; native code still reaches: ${open.join(', ')}`;
};

const WHAT_TO_DO =
  'Let the kernel have Landlock (Linux 5.13, perl-base installed), or install bubblewrap ' +
  'where user namespaces are allowed; see docs/how-to/harden.md';

/** As `quire doctor` shows it. */
export const protectionVerdict = (facts: ProtectionFacts): Verdict =>
  facts.open.length === 0
    ? ok(`The processes that parse are ${protectionText(facts)}: they reach no file, process or network.`)
    : warning(`The processes that parse are ${protectionText(facts)}. ${WHAT_TO_DO}.`);
