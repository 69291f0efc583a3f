import type { z } from 'zod';
import type { ChannelIssue, ChannelName, ModelChannel } from '../../commands/models.ts';
import type { WorkSubject } from '../../commands/fetchUpload.ts';
import type { Opening, WorkRequest } from '../../commands/work.ts';
import type { RouteRequest } from '../defineRoute.ts';
import type { UploadedFile } from '../server/multipart.ts';
import { problem } from '../problems.ts';
import { issuesOf } from '../server/validate.ts';
import { CHANNEL_FIELDS, type ChannelMember } from '../wire/channels.ts';

/** The file of a form. */
export const fileOf = (file: UploadedFile | undefined): UploadedFile => {
  if (file === undefined) throw problem('missing_file', 'The form has no part named file.');
  return file;
};

/** Members that say how a document is opened; `at`: where they stand, where that is not the body. */
type OpeningFields = Pick<Opening, 'pages' | 'password'> & { readonly at?: Opening['at'] };

/** What extraction and conversion take from a request alike. */
export const workOf = (
  request: RouteRequest<unknown, unknown, unknown>,
  { at, ...given }: OpeningFields,
  subject: WorkSubject,
): WorkRequest => ({
  tenant_id: request.tenant_id,
  caller: { key_id: request.caller.key_id, role: request.caller.role },
  correlation_id: request.meta.correlation_id,
  idempotency:
    request.idempotency_key === null
      ? null
      : { idempotency_key: request.idempotency_key, fingerprint: request.fingerprint },
  ...subject,
  opening: { pages: given.pages, password: given.password, at: at ?? ['body'] },
  signal: request.signal,
});

interface ChannelPlace {
  /** The members' schemas, as forms or as JSON spell them. */
  readonly members: Readonly<Record<ChannelMember, z.ZodType>>;
  /** Where a member stands in the request. */
  readonly at: (member: string) => readonly string[];
}

/** A caller's own model. What is not as it should be is kept apart: it counts only where the channel runs. */
export const looseChannel = (
  given: Readonly<Record<string, unknown>>,
  { members, at }: ChannelPlace,
): ModelChannel => {
  const issues: ChannelIssue[] = [];
  const named = Object.entries(members).flatMap(([member, schema]): [string, unknown][] => {
    const value = given[member];
    if (value === undefined || value === '') return [];
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return [[member, result.data]];
    issues.push(...result.error.issues.flatMap((issue) => issuesOf(issue, at(member))));
    return member === 'api_key' ? [[member, value]] : [];
  });
  return { ...Object.fromEntries(named), ...(issues.length > 0 && { issues }) };
};

/** As `looseChannel`, from the `<channel>_…` members of a form or a payload. */
export const channelOf = (
  name: ChannelName,
  fields: Readonly<Record<string, unknown>>,
  { members, under = [] }: Pick<ChannelPlace, 'members'> & { readonly under?: readonly string[] } = {
    members: CHANNEL_FIELDS,
  },
): ModelChannel => {
  const own = Object.keys(members).map((member) => [member, fields[`${name}_${member}`]]);
  const at = (member: string) => ['body', ...under, `${name}_${member}`];
  return looseChannel(Object.fromEntries(own) as Record<string, unknown>, { members, at });
};
