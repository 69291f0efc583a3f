import { useState } from 'react';
import { playground } from '../../texts/playground.ts';
import { ForTenant } from '../../ui/forTenant.tsx';
import { PageHeader } from '../../ui/pageHeader.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import { DropZone } from './dropZone.tsx';
import { templateText } from './schema/templates.ts';
import { Workbench } from './workbench.tsx';

function Playground() {
  const [given, give] = useState<File>();
  const [fault, keep] = useState<unknown>();
  const [schemaText, write] = useState(() => templateText('invoice'));
  if (given === undefined)
    return (
      <div className="flex flex-col gap-4">
        <ProblemNote error={fault} />
        <DropZone onFile={give} onFault={keep} />
      </div>
    );
  return (
    <Workbench
      file={given}
      schemaText={schemaText}
      onSchema={write}
      onOther={() => {
        give(undefined);
        keep(undefined);
      }}
    />
  );
}

/** A document, what is to be read from it, and what was read. */
export default function PlaygroundPage() {
  return (
    <>
      <PageHeader title={playground.title} say={playground.say} />
      <ForTenant>
        <Playground />
      </ForTenant>
    </>
  );
}
