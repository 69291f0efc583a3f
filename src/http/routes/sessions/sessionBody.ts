import type { Session } from '../../sessions/session.ts';
import type { Sessions } from '../../sessions/sessions.ts';

/** The members of `SessionResponse`. */
export const sessionBody = (
  session: Session | undefined,
  { methods, publicUrl }: Pick<Sessions, 'methods' | 'publicUrl'>,
) => {
  if (session === undefined)
    return { signed_in: false as const, methods: [...methods], public_url: publicUrl ?? null };
  const { tenant_id, role, via, subject, expires_at, csrf_token } = session;
  return {
    signed_in: true as const,
    ...{ tenant_id, role, via, subject, expires_at, csrf_token },
    methods: [...methods],
  };
};
