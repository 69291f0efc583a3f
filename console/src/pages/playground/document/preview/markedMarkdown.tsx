import { useMemo } from 'react';
import { MarkdownView } from '../../results/markdownView.tsx';
import { Cited } from './cited.tsx';
import type { Wanted } from './place.ts';

/** Markdown as it reads, with the words of the chosen value marked. */
export function MarkedMarkdown({ markdown, wanted }: { markdown: string; wanted: Wanted | undefined }) {
  const view = useMemo(() => <MarkdownView markdown={markdown} />, [markdown]);
  return (
    <Cited text={markdown} wanted={wanted}>
      {view}
    </Cited>
  );
}
