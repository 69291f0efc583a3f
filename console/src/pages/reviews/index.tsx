import type { ReviewItem } from '@quire/client';
import { usePages } from '../../api/connection.ts';
import { useActing } from '../../api/session.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { statusName } from '../../texts/shell.ts';
import { PageHeader } from '../../ui/card.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Go, useAddressValue, useGo, useRest } from '../../ui/go.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, ProblemNote, Status } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { useActorNames } from '../../ui/names.tsx';
import { ReviewPage } from './review.tsx';

/** The address of a review; `show`: which reviews the list shows that one comes back to. */
const pathOf = ({ review_id }: ReviewItem, show: string | undefined): string =>
  `/reviews/${review_id}${show === undefined ? '' : `?show=${show}`}`;
const nameOf = ({ file_name, document_id }: ReviewItem): string => file_name ?? document_id;
const whyOf = ({ reasons }: ReviewItem): string => reasons.map((one) => texts.reasons[one]).join(', ');

function Shown({ item }: { item: ReviewItem }) {
  const [show] = useAddressValue('show');
  return <Go to={pathOf(item, show)}>{nameOf(item)}</Go>;
}

const COLUMNS: readonly Column<ReviewItem>[] = [
  {
    id: 'document',
    name: texts.columns.document,
    value: nameOf,
    share: 2,
    show: (item) => <Shown item={item} />,
  },
  {
    id: 'status',
    name: texts.columns.status,
    value: ({ status }) => statusName(status),
    show: ({ status }) => <Status status={status} />,
  },
  {
    id: 'confidence',
    name: texts.columns.confidence,
    value: ({ least_confidence }) => least_confidence,
    show: ({ least_confidence }) => (least_confidence === null ? '–' : texts.percent(least_confidence)),
    isNumber: true,
    share: 0.9,
  },
  { id: 'reasons', name: texts.columns.reasons, value: whyOf, share: 1.5 },
  { id: 'pages', name: texts.columns.pages, value: ({ pages }) => pages, isNumber: true, share: 0.6 },
  {
    id: 'opened',
    name: texts.columns.opened,
    value: ({ opened_at }) => opened_at,
    share: 1.5,
    show: ({ opened_at }) => <Time at={opened_at} />,
    isWhole: true,
  },
];

const SORTS = {
  status: 'status',
  confidence: 'least_confidence',
  pages: 'pages',
  opened: 'opened_at',
  decided: 'decided_at',
} as const;

const decidedColumns = (nameOf: (who: string | null) => string): readonly Column<ReviewItem>[] => [
  {
    id: 'decided',
    name: texts.columns.decided,
    value: ({ decided_at }) => decided_at,
    share: 1.5,
    show: ({ decided_at }) => <Time at={decided_at} />,
    isWhole: true,
  },
  {
    id: 'by',
    name: texts.columns.by,
    value: ({ decided_by }) => (decided_by === null ? null : nameOf(decided_by)),
    share: 1.3,
  },
];

const SHOWN = Object.entries(texts.show).map(([value, name]) => ({ value, name }));
const DECIDED: Readonly<Record<string, object>> = { open: { decided: false }, decided: { decided: true } };

/** The reviews that wait, unless others are asked for: what is decided would stand between them. */
function ReviewList() {
  const go = useGo();
  const { tenantId = '' } = useActing();
  const [asked, show] = useAddressValue('show');
  const shown = asked !== undefined && asked in texts.show ? asked : 'open';
  const nameOfKey = useActorNames(tenantId);
  const columns = shown === 'open' ? COLUMNS : [...COLUMNS, ...decidedColumns(nameOfKey)];
  const query = { tenant_id: tenantId, ...DECIDED[shown] };
  const list = usePages('listReviews', { query }, { sorts: SORTS });
  return (
    <div className="flex flex-col gap-4">
      <span className="w-44">
        <Select label={texts.showName} choices={SHOWN} value={shown} onChange={show} />
      </span>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={texts.all}
          key={shown}
          columns={columns}
          list={list}
          idOf={({ review_id }) => review_id}
          onOpen={(item) => go(pathOf(item, asked))}
          height={640}
          empty={
            shown === 'open' ? (
              <Empty title={texts.none.title} say={texts.none.say} />
            ) : (
              <Empty title={texts.noneDecided} />
            )
          }
        />
      )}
    </div>
  );
}

/** Results that a person has to look at: all of a tenant, or one of them. */
export default function ReviewsPage() {
  const reviewId = useRest();
  if (reviewId !== undefined) return <ReviewPage key={reviewId} reviewId={reviewId} />;
  return (
    <>
      <PageHeader title={texts.title} say={texts.say} />
      <ForTenant>
        <ReviewList />
      </ForTenant>
    </>
  );
}
