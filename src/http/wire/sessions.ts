import { z } from 'zod';
import { keyRole } from '../../../domain/apiKey.ts';
import { signedInBy } from '../sessions/session.ts';
import { instantOut, plainText } from './basics.ts';

const methods = z
  .array(z.enum(['api_key', 'oidc']))
  .meta({ description: 'Ways to sign in that this service offers.' });

/** Who is signed in, if anybody is. Told apart by a boolean, which no discriminator of OpenAPI may be. */
export const sessionResponse = z
  .union([
    z.strictObject({
      signed_in: z.literal(false).meta({ description: 'Nobody is.' }),
      methods,
      public_url: z
        .string()
        .nullable()
        .meta({
          description:
            'Where browsers reach the service, `PUBLIC_URL`; null where that is not said: then sessions need https, ' +
            'or a browser on the machine of the service.',
        }),
    }),
    z.strictObject({
      signed_in: z.literal(true).meta({ description: 'Somebody is.' }),
      tenant_id: z.string().meta({ description: 'The tenant that the session acts for.' }),
      role: keyRole.meta({ description: 'What the session may do.' }),
      via: signedInBy.meta({ description: 'How the session was opened.' }),
      subject: z
        .string()
        .meta({ description: 'Who acts, as events name it: the ID of a key, or `oidc:` and a subject.' }),
      expires_at: instantOut.meta({ description: 'When the session ends by itself.' }),
      csrf_token: z
        .string()
        .meta({ description: 'What requests that change something send as `X-CSRF-Token`.' }),
      methods,
    }),
  ])
  .meta({ id: 'SessionResponse' });

export const sessionRequest = z
  .strictObject({
    api_key: plainText(1, 512).meta({ description: 'A key of a tenant, of a service or of an admin.' }),
  })
  .meta({ id: 'SessionRequest' });
