import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { formatKey, isWellFormedKey, keyRole, type KeyRole, keyTraces } from '../../domain/apiKey.ts';
import { tenantId } from '../../domain/kernel/amounts.ts';
import {
  type CreateKeyInput,
  type KeyCreated,
  type KeyListed,
  type KeyRevoked,
  type ListKeysInput,
  nameOfHolder,
  type RevokeKeyInput,
  type Rotated,
  type SignInLink,
  type TenantErased,
} from '../operator/access.ts';
import { MANIFEST } from '../backup/files.ts';
import { absentAsUndefined, jsonIn } from '../../domain/kernel/json.ts';
import { OperatorError } from '../operator/socket.ts';
import {
  answerOf,
  answersOf,
  type AsJson,
  ask,
  command,
  grouped,
  instantGiven,
  json,
  type Output,
  progressShown,
  table,
} from './terminal.ts';
import { configFrom } from '../config.ts';
import { moveIntoVault } from '../service/operator.ts';

interface CreateOptions extends AsJson {
  readonly role: KeyRole;
  readonly tenant?: string;
  readonly name?: string;
  readonly expires?: string;
}

/** The tenant of keys that act for others. */
const OPERATOR = 'operator';
const RANDOM_BYTES = 96;

const wellFormedTenant = (tenant: string): string => {
  const given = tenantId.safeParse(tenant);
  if (!given.success)
    throw new OperatorError('--tenant: 1 to 128 letters, digits and . _ : @ -, a letter or digit first.', 2);
  return given.data;
};

const tenantOf = ({ role, tenant }: CreateOptions): string => {
  if (tenant === undefined && role === 'tenant')
    throw new OperatorError('A key of a tenant needs --tenant <id>.', 2);
  return wellFormedTenant(tenant ?? OPERATOR);
};

const create = async (output: Output, options: CreateOptions): Promise<void> => {
  const { out, note } = output;
  const { role, name = null, expires } = options;
  if (name !== null && (name === '' || name.length > 200))
    throw new OperatorError('--name: 1 to 200 characters.', 2);
  const expires_at = expires === undefined ? null : instantGiven('--expires', expires);
  const tenant_id = tenantOf(options);
  const key = formatKey(role, randomBytes(RANDOM_BYTES));
  const input: CreateKeyInput = { ...keyTraces(key), tenant_id, role, name, expires_at };
  const created = await answerOf<KeyCreated>(output, { name: 'keys.create', input });
  if (options.json === true) return out(json({ ...created, key }));
  await out(`${key}\n`);
  const until = expires_at === null ? '' : ` until ${expires_at}`;
  note(`${created.key_id}: ${role} key of ${tenant_id}${until}. It is shown this once and kept nowhere.\n`);
};

interface ListOptions extends AsJson {
  readonly tenant?: string;
  readonly role?: KeyRole;
  readonly all?: boolean;
}

const HEADER = ['KEY_ID', 'ROLE', 'TENANT', 'KEY', 'STATE', 'CREATED', 'EXPIRES', 'NAME'];

const rowOf = ({
  key_id,
  role,
  tenant_id,
  name,
  prefix,
  last4,
  state,
  created_at,
  expires_at,
}: KeyListed) => [
  key_id,
  role,
  tenant_id,
  `${prefix}…${last4}`,
  state,
  created_at,
  expires_at ?? '',
  name ?? '',
];

const list = async (
  output: Output,
  { tenant, role, all = false, json: asJson }: ListOptions,
): Promise<void> => {
  const input: ListKeysInput = {
    ...(tenant !== undefined && { tenant_id: wellFormedTenant(tenant) }),
    ...(role !== undefined && { role }),
    all,
  };
  const keys = await answersOf<KeyListed>(output, { name: 'keys.list', input });
  if (asJson === true) for (const key of keys) await output.out(json(key));
  else if (keys.length > 0) await output.out(table(HEADER, keys.map(rowOf)));
  if (keys.length === 0)
    output.note('There is no such key. ADMIN_API_KEY is not listed: it is not in the log.\n');
};

interface RevokeOptions extends AsJson {
  readonly made: 'keep' | 'revoke';
}

const named = (key: string, { made }: RevokeOptions): RevokeKeyInput =>
  isWellFormedKey(key)
    ? { key_hash: createHash('sha256').update(key, 'utf8').digest('hex'), made }
    : { key_id: key, made };

const revokedText = ({ key_id, role, tenant_id, already_revoked }: KeyRevoked): string =>
  `${key_id}: ${role} key of ${tenant_id} ${already_revoked ? 'was revoked already' : 'is revoked'}\n`;

const madeNote = ({ key_id, made, made_keys }: KeyRevoked): string => {
  const which = made_keys.join(', ');
  return made === 'revoke'
    ? `Revoked with it, as made with it: ${which}\n`
    : `Made with it, and still live: ${which}. \`quire keys revoke ${key_id} --made revoke\` revokes them.\n`;
};

const revoke = async (output: Output, key: string, options: RevokeOptions): Promise<void> => {
  const revoked = await answerOf<KeyRevoked>(output, { name: 'keys.revoke', input: named(key, options) });
  await output.out(options.json === true ? json(revoked) : revokedText(revoked));
  if (revoked.made_keys.length > 0) output.note(madeNote(revoked));
  if (revoked.role === 'admin' && revoked.admin_keys_left === 0)
    output.note(
      'No admin key is left but ADMIN_API_KEY, if it is set: `quire keys create --role admin` makes one.\n',
    );
};

/** `quire keys …`. */
export const addKeys = (program: Command): void => {
  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('make a key and print it, this once')
    .addOption(new Option('--role <role>', 'what it may do').choices(keyRole.options).default('tenant'))
    .option('--tenant <id>', `the tenant it belongs to; service and admin keys: "${OPERATOR}" if not given`)
    .option('--name <name>', 'its name in lists')
    .option('--expires <when>', 'when it ends: a date, a time (RFC 3339), or in days (90d)')
    .option('--json', 'print a line of JSON')
    .action(command(create));
  keys
    .command('list')
    .description('list keys, the oldest first; of each its first and last characters')
    .addOption(new Option('--role <role>', 'only of this role').choices(keyRole.options))
    .option('--tenant <id>', 'only of this tenant')
    .option('--all', 'revoked and expired ones too')
    .option('--json', 'print a line of JSON for each')
    .action(command(list));
  keys
    .command('revoke')
    .argument('<key>', 'its key_id, or the key itself')
    .description('revoke a key for good; says which live keys were made with it')
    .addOption(
      new Option('--made <what>', 'what becomes of those').choices(['keep', 'revoke']).default('keep'),
    )
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nA service that shares the data folder refuses the key at once, others within 60 ' +
        'seconds.\nThe key_id is the better name: a key on a command line stays in the history ' +
        'of the shell.',
    )
    .action(command(revoke));
};

type Item =
  | { readonly progress: { readonly done: number; readonly of: number } }
  | { readonly rotated: Rotated };

const textOf = ({ configs, webhooks, rotated, current, lost }: Rotated): string => {
  const holders = `${configs} saved configs and ${webhooks} webhooks`;
  const lines = [`${holders}: ${rotated} keys encrypted again, ${current} were up to date`];
  for (const { secret_id, ...holder } of lost) {
    const cure = 'config_id' in holder ? 'publish the config again' : 'rotate the secret of the webhook';
    lines.push(`lost: ${secret_id} of ${nameOfHolder(holder)} opens with no known secret; ${cure}`);
  }
  return `${lines.join('\n')}\n`;
};

const rotate = async (output: Output, { json: asJson }: AsJson): Promise<void> => {
  const { out, note } = output;
  let rotated: Rotated | undefined;
  const send = (item: unknown): Promise<void> => {
    const known = item as Item;
    if ('rotated' in known) rotated = known.rotated;
    else if (known.progress.done % 100 === 0) note(`${known.progress.done} of ${known.progress.of}\n`);
    return Promise.resolve();
  };
  await ask(output, { name: 'secrets.rotate', input: {} }, send);
  if (rotated === undefined) throw new OperatorError('It was stopped before its end. Run it again.');
  await out(asJson === true ? json(rotated) : textOf(rotated));
  if (rotated.tenant_keys_lost > 0)
    throw new OperatorError(
      `${rotated.tenant_keys_lost} keys of tenants could not be opened: their texts are lost.`,
    );
  if (rotated.lost.length > 0) throw new OperatorError(`${rotated.lost.length} keys could not be opened.`);
};

/** `quire secrets …`. */
export const addSecrets = (program: Command): void => {
  program
    .command('secrets')
    .description('own keys of callers in saved configs, and secrets of webhooks')
    .command('rotate')
    .description('encrypt all of them again with FIELD_ENCRYPTION_KEY')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nTo change the secret: put the old one into FIELD_ENCRYPTION_KEYS_OLD and the new one ' +
        'into\nFIELD_ENCRYPTION_KEY, start the service, rotate, and take the old one away.',
    )
    .action(command(rotate));
};

const STAYS =
  'What stays: these events in the log and in backups of it, byte for byte, for a hash chain cannot be changed. How ' +
  'to be rid of them too: docs/how-to/forget.md, "What stays".\n';

const movedText = ({ events, texts, erased, kept, position, rebuilt }: Moved): string => {
  if (position === null) return 'No event has a text in it: there is nothing to move.\n';
  const models =
    rebuilt === 0 ? '' : `${grouped(rebuilt)} read models were made anew, with tokens in their place.\n`;
  return (
    `${grouped(texts)} texts of ${grouped(events)} old events are in the vault, ${grouped(kept)} of them since now; ` +
    `${grouped(erased)} were left out, for they are erased.\n` +
    `Whoever reads an event before position ${String(position)} has tokens in their place.\n${models}`
  );
};

type Moved = Awaited<ReturnType<typeof moveIntoVault>>;

const move = async (output: Output, { json: asJson }: AsJson): Promise<void> => {
  const shown = progressShown(output);
  const onEvents = (events: number): void => {
    if (output.isTerminal) output.note(`\r${grouped(events)} events\u001b[K`);
  };
  try {
    const moved = await moveIntoVault(configFrom(), {
      onEvents,
      onRebuild: shown.show,
      signal: output.signal,
    });
    shown.end();
    await output.out(
      asJson === true ? json({ ...moved, position: moved.position?.toString() ?? null }) : movedText(moved),
    );
    if (moved.position !== null) output.note(STAYS);
  } finally {
    shown.end();
  }
};

/** `quire vault …`. */
export const addVault = (program: Command): void => {
  program
    .command('vault')
    .description('what people write, beside the log')
    .command('move')
    .description('move the texts of old events into the vault, so that they can be erased')
    .option('--json', 'print a line of JSON')
    .addHelpText(
      'after',
      '\nEvents of early releases have names, notes, reasons and references in them. Stop the service first: nobody ' +
        'else may\nuse the log. A run that was cut short is taken up by the next; one that finds nothing changes ' +
        'nothing. Read models\nare made anew without the texts. The events themselves stay as they are.',
    )
    .action(command(move));
};

const print = async (output: Output): Promise<void> => {
  const { url } = await answerOf<SignInLink>(output, { name: 'session.link', input: {} });
  await output.out(`${url}\n`);
  output.note('It signs in as an admin once, within 15 minutes.\n');
};

/** `quire sign-in-link`. */
export const addSignInLink = (program: Command): void => {
  program
    .command('sign-in-link')
    .description('print a link that signs in to the console of the running service, once')
    .action(command(print));
};

interface EraseOptions extends AsJson {
  readonly yes?: boolean;
  readonly backups?: string;
}

const madeAt = async (folder: string): Promise<string | undefined> => {
  const text = await absentAsUndefined(readFile(join(folder, MANIFEST), 'utf8'));
  const manifest = text === undefined ? undefined : jsonIn(text);
  if (typeof manifest !== 'object' || manifest === null || !('made_at' in manifest)) return undefined;
  return String(manifest.made_at);
};

/** Backups in a folder that were made before an instant, the oldest first: each has what was erased then. */
const backupsBefore = async (folder: string, before: string) => {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const folders = [folder, ...names.map(({ name }) => join(folder, name))];
  const made = await Promise.all(folders.map(async (path) => ({ path, made_at: await madeAt(path) })));
  return made
    .flatMap(({ path, made_at }) => (made_at === undefined || made_at >= before ? [] : [{ path, made_at }]))
    .sort((a, b) => (a.made_at < b.made_at ? -1 : 1));
};

const LATER = 'Some of it is in use or could not be removed yet: the service goes on with it.';

const eraseTenant = async (
  output: Output,
  tenant: string,
  { yes = false, backups, json: asJson = false }: EraseOptions,
): Promise<void> => {
  if (!yes)
    throw new OperatorError(`This removes for good what ${tenant} wrote and sent. Say --yes to do it.`, 2);
  const input = { tenant_id: wellFormedTenant(tenant) };
  const erased = await answerOf<TenantErased>(output, { name: 'tenants.erase', input });
  const { erased_at, removed, left } = erased;
  const still = backups === undefined ? [] : await backupsBefore(backups, erased_at);
  if (asJson) return output.out(json({ ...erased, backups: still }));
  await output.out(`${tenant} is erased as of ${erased_at}: ${removed} things removed\n`);
  if (left !== 0) output.note(`${LATER} Run it again to see.\n`);
  for (const { path, made_at } of still) await output.out(`${path}, made at ${made_at}, still has it\n`);
};

/** `quire tenants …`. */
export const addErasing = (tenants: Command): void => {
  tenants
    .command('erase')
    .argument('<tenant>', 'its ID')
    .description('erase for good what its people wrote and sent; its money, pages and times stay')
    .option('--yes', 'really')
    .option('--backups <folder>', 'also list the backups in this folder that still have it')
    .option('--json', 'print a line of JSON')
    .action(command(eraseTenant));
};
