import type { FolderOwner } from '../../domain/ports/services.ts';
import type { ServiceFacts } from '../operator/aboutService.ts';
import { ok, problem, warning, type Verdict } from './check.ts';

const hours = (seconds: number): string =>
  seconds < 7200 ? `${String(Math.floor(seconds / 60))} min` : `${String(Math.floor(seconds / 3600))} h`;

const named = ({ owner, isHere, command }: FolderOwner): string => {
  if (owner === undefined) return 'a process that left no name';
  if (!isHere) return `process ${String(owner.pid)} on ${owner.host ?? 'another machine'}`;
  return `process ${String(owner.pid)}${command === '' ? '' : ` (${command})`}`;
};

const servedBy = (facts: ServiceFacts, version: string): Verdict => {
  const { pid, roles, up_seconds } = facts;
  const text =
    `The service runs: process ${String(pid)}, version ${facts.version}, ${roles.join(', ')},` +
    ` up ${hours(up_seconds)}`;
  return facts.version === version
    ? ok(`${text}.`)
    : warning(`${text}; this command is of version ${version}: use the one of the service.`);
};

/** Who has the data folder. `facts`: what the service says that answers on its socket; undefined: none does. */
export const ownerVerdict = (
  found: FolderOwner,
  facts: ServiceFacts | undefined,
  version: string,
): Verdict => {
  if (facts !== undefined) return servedBy(facts, version);
  if (found.isRestoring && !found.isLocked)
    return problem(
      'A restore into the folder was interrupted: empty the folder, and run `quire restore` again.',
    );
  if (found.isLocked && found.isHere && !found.isRunning)
    return warning(
      `The lock of ${named(found)}, which no longer runs, is a few seconds old: the next start takes it over.`,
    );
  if (found.isLocked)
    return warning(
      `The folder is locked by ${named(found)}, and no service answers on its socket: it is a ` +
        'command at work, a service that starts or ends, or one that hangs. If it stays so, stop ' +
        'that process.',
    );
  return ok('The folder is free: no service runs on it.');
};

/** What answered at the address of the service, if anything. */
export type AddressState =
  | { readonly kind: 'quire'; readonly version: string; readonly status: string }
  | { readonly kind: 'stranger'; readonly what: string }
  /** It was listened on for a moment. */
  | { readonly kind: 'free' }
  | { readonly kind: 'unusable'; readonly code: string };

const UNUSABLE: Readonly<Record<string, string>> = {
  EACCES: 'this user may not listen on it: set PORT to one above 1023',
  EADDRINUSE: 'another program has it, and does not answer: stop that, or set PORT to another one',
  EADDRNOTAVAIL: 'HOST is no address of this machine: set it to 127.0.0.1, or to 0.0.0.0 for all',
  ENOTFOUND: 'HOST is no name that this machine knows: set it to an address',
};

const answered = (
  { version, status }: Extract<AddressState, { kind: 'quire' }>,
  address: string,
  isOwn: boolean,
): Verdict => {
  if (!isOwn)
    return warning(
      `Quire ${version} answers at ${address}, and it is not the service of this data folder: ` +
        'set PORT or DATA_DIR as that one has it, or to others.',
    );
  return status === 'ok'
    ? ok(`Our own service answers at ${address}, and is well.`)
    : warning(`Our own service answers at ${address} and is ${status}: /health says which part.`);
};

/** `isOwn`: what answers there is the service of the data folder. */
export const addressVerdict = (address: string, state: AddressState, isOwn: boolean): Verdict => {
  switch (state.kind) {
    case 'quire':
      return answered(state, address, isOwn);
    case 'stranger':
      return problem(
        `Another program answers at ${address} (${state.what}): stop that, or set PORT to another one.`,
      );
    case 'free':
      return ok(`${address} is free.`);
    case 'unusable':
      return problem(`${address} cannot be listened on: ${UNUSABLE[state.code] ?? state.code}.`);
  }
};
