import type { ExtractionResult } from '@quire/client';
import { playground } from '../../../texts/playground.ts';
import { Card } from '../../../ui/card.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import type { ValueRow } from '../values.ts';
import { CodeTab } from './codeTab.tsx';
import { BlocksTab, Converted, MarkdownTab, TextTab, type Conversion } from './conversion.tsx';
import { DataTab, type Choosing } from './dataTab.tsx';

const { results: texts } = playground;

interface ResultsProps {
  readonly file: File;
  readonly schema: string;
  readonly answer: ExtractionResult | undefined;
  readonly rows: readonly ValueRow[];
  readonly choosing: Choosing;
  readonly conversion: Conversion;
}

/** What was read, in all the ways to look at it, and the request as a program sends it. */
export function Results({ file, schema, answer, rows, choosing, conversion }: ResultsProps) {
  const data =
    answer === undefined ? (
      <p className="text-soft">{playground.run.first}</p>
    ) : (
      <DataTab file={file} answer={answer} rows={rows} choosing={choosing} />
    );
  const converted = { markdown: MarkdownTab, text: TextTab, blocks: BlocksTab };
  const ways = (['markdown', 'text', 'blocks'] as const).map((id) => {
    const Way = converted[id];
    const content = <Converted conversion={conversion}>{(one) => <Way result={one} />}</Converted>;
    return { id, name: texts[id], content };
  });
  return (
    <Card>
      <Tabs
        label={texts.label}
        tabs={[
          { id: 'data', name: texts.data, content: data },
          ...ways,
          { id: 'code', name: texts.code, content: <CodeTab name={file.name} schema={schema} /> },
        ]}
      />
    </Card>
  );
}
