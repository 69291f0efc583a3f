import { runs as texts } from '../../texts/runs.ts';
import { PageHeader } from '../../ui/card.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useAddressValue, useRest } from '../../ui/go.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { RunList } from './list.tsx';
import { ManyFiles } from './manyFiles.tsx';
import { OneRun } from './one.tsx';

/** All work on documents: the list, one run, or a folder of files at once. */
export default function RunsPage() {
  const runId = useRest();
  const [tab = 'runs', choose] = useAddressValue('tab');
  if (runId !== undefined) return <OneRun key={runId} runId={runId} />;
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <Tabs
          label={texts.title}
          value={tab}
          onChange={choose}
          tabs={[
            { id: 'runs', name: texts.all, content: <RunList /> },
            { id: 'files', name: texts.files.title, content: <ManyFiles /> },
          ]}
        />
      </ForTenant>
    </>
  );
}
