import type { ReviewItem } from '@quire/client';
import { usePages } from '../../api/connection.ts';
import { useActing } from '../../api/session.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { Badge, PageHeader, type Tone } from '../../ui/card.tsx';
import { ForTenant } from '../../ui/forTenant.tsx';
import { Go, useGo, useRest } from '../../ui/go.tsx';
import { Empty, ProblemNote } from '../../ui/states.tsx';
import { DataTable, type Column } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';
import { ReviewPage } from './review.tsx';

const TONES: Readonly<Record<ReviewItem['status'], Tone>> = {
  open: 'warn',
  leased: 'accent',
  decided: 'good',
  rejected: 'bad',
  expired: 'neutral',
};
const pathOf = ({ review_id }: ReviewItem): string => `/reviews/${review_id}`;
const nameOf = ({ file_name, document_id }: ReviewItem): string => file_name ?? document_id;
const whyOf = ({ reasons }: ReviewItem): string => reasons.map((one) => texts.reasons[one]).join(', ');

const COLUMNS: readonly Column<ReviewItem>[] = [
  {
    id: 'document',
    name: texts.columns.document,
    value: nameOf,
    share: 2,
    show: (item) => <Go to={pathOf(item)}>{nameOf(item)}</Go>,
  },
  {
    id: 'status',
    name: texts.columns.status,
    value: ({ status }) => texts.status[status],
    show: ({ status }) => <Badge tone={TONES[status]}>{texts.status[status]}</Badge>,
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

function ReviewList() {
  const go = useGo();
  const { tenantId = '' } = useActing();
  const list = usePages('listReviews', { query: { tenant_id: tenantId } });
  return (
    <>
      <ProblemNote error={list.error} onRetry={list.again} />
      {list.error === null && (
        <DataTable
          label={texts.all}
          columns={COLUMNS}
          items={list.items}
          idOf={({ review_id }) => review_id}
          onOpen={(item) => go(pathOf(item))}
          onMore={list.more}
          csv={list.csv}
          total={list.total}
          isLoadingMore={list.isLoadingMore}
          height={640}
          empty={<Empty title={texts.none.title} say={texts.none.say} />}
        />
      )}
    </>
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
