import { z } from 'zod';
import { get } from '../../defineRoute.ts';
import { ASSET_NAMES, docsAsset } from '../../openapi/docsPages.ts';

export const getDocsAsset = get('/docs/assets/{asset}', {
  summary: 'A file of the reference page',
  description: 'Scripts and styles of the reference page: nothing is loaded from elsewhere.',
  access: 'public',
  always: true,
  params: z.object({ asset: z.enum(ASSET_NAMES) }),
  reply: { status: 200, contentType: 'application/octet-stream' },
  handle: ({ params, answer }) => {
    answer.header('Cache-Control', 'public, max-age=3600');
    return Promise.resolve(docsAsset(params.asset));
  },
});
