import type { PreviewKind } from './preview.ts';
import { previewMarkdown } from './previewMarkdown.ts';

/** A file that was dropped, and how it is read. */
export interface PreviewAsked {
  readonly file: File;
  readonly kind: PreviewKind;
}

/** undefined: it could not be read here. */
export interface PreviewTold {
  readonly markdown: string | undefined;
}

globalThis.addEventListener('message', ({ data: { file, kind } }: MessageEvent<PreviewAsked>) => {
  const tell = (markdown: string | undefined): void =>
    globalThis.postMessage({ markdown } satisfies PreviewTold);
  previewMarkdown(file, kind).then(tell, () => tell(undefined));
});
