import type { Block, DocumentWarning } from '../../document/document.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import { openFlow } from '../pieces/flow.ts';
import type { OpenedDocument } from '../pieces/opened.ts';
import { RefusedDocument } from '../pieces/blocks.ts';

/** What reading an office document gives. */
interface OfficeText {
  readonly blocks: readonly Block[];
  readonly warnings: readonly DocumentWarning[];
}

/** Opens what `read` gives as one flow; whatever stops it is a failure, for the file is to blame. */
export async function openOffice(
  mimeType: string,
  read: () => OfficeText | Promise<OfficeText>,
): Promise<OpenedDocument | ParseFailure> {
  try {
    return openFlow({ mimeType, ...(await read()) });
  } catch (error) {
    const detail = error instanceof RefusedDocument ? error.message : 'The document is damaged.';
    return { kind: 'unreadable', detail };
  }
}
