import { createHash, randomBytes } from 'node:crypto';
import { Option, type Command } from 'commander';
import { formatKey, isWellFormedKey, keyRole, type KeyRole, keyTraces } from '../../../domain/apiKey.ts';
import { tenantId } from '../../../domain/kernel/amounts.ts';
import type {
  CreateKeyInput,
  KeyCreated,
  KeyListed,
  KeyRevoked,
  ListKeysInput,
  RevokeKeyInput,
} from '../../operator/keys.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { instantGiven } from '../instantGiven.ts';
import { answerOf, answersOf } from '../ask.ts';
import { command, json, table, type AsJson, type Output } from '../output.ts';

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
  ...[key_id, role, tenant_id, `${prefix}…${last4}`, state],
  ...[created_at, expires_at ?? '', name ?? ''],
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
