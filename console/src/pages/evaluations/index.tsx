import { evaluations as texts } from '../../texts/evaluations.ts';
import { PageHeader } from '../../ui/card.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { useAddressValue } from '../../ui/go.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Runs } from './runs.tsx';
import { Sets } from './sets.tsx';

const TABS = [
  { id: 'runs', name: texts.tabs.runs, content: <Runs /> },
  { id: 'sets', name: texts.tabs.sets, content: <Sets /> },
];

/** Sets of examples, and how well what is published reads them. */
export default function EvaluationsPage() {
  const [tab, choose] = useAddressValue('tab');
  const shown = TABS.some(({ id }) => id === tab) ? String(tab) : 'runs';
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <Tabs label={texts.label} tabs={TABS} value={shown} onChange={choose} />
      </ForTenant>
    </>
  );
}
