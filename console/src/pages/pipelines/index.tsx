import { pipelines as texts } from '../../texts/pipelines.ts';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { PageHeader } from '../../ui/card.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Artifacts, Deployments } from './deployments.tsx';
import { Jobs } from './jobs.tsx';

const TABS = [
  { id: 'jobs', name: texts.tabs.jobs, content: <Jobs /> },
  { id: 'artifacts', name: texts.tabs.artifacts, content: <Artifacts /> },
  { id: 'deployments', name: texts.tabs.deployments, content: <Deployments /> },
];

/** Training, what it left, and what is deployed. */
export default function PipelinesPage() {
  const [tab, choose] = useAddressValue('tab');
  const shown = TABS.some(({ id }) => id === tab) ? String(tab) : 'jobs';
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <Tabs label={texts.label} tabs={TABS} value={shown} onChange={choose} />
      </ForTenant>
    </>
  );
}
