import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { Api } from '@quire/client';
import { api } from './connection.ts';
import { readAgainIfLate } from './lateReads.ts';

type Answer<Name extends keyof Api> = Awaited<ReturnType<Api[Name]>>;
interface AnyPage {
  readonly items: readonly unknown[];
  readonly total: number;
}
/** The calls that answer with a page of a list. */
type ListName = { [Name in keyof Api]: Answer<Name> extends AnyPage ? Name : never }[keyof Api];
type ItemOf<Name extends ListName> = Extract<Answer<Name>, AnyPage>['items'][number];
type ListInput<Name extends ListName> = NonNullable<Parameters<Api[Name]>[0]>;

/** A list as far as it was loaded. */
export interface Pages<Item> {
  /** undefined: the first page is being loaded. */
  readonly items: readonly Item[] | undefined;
  readonly total: number | undefined;
  readonly error: unknown;
  readonly again: () => void;
  /** undefined: all of it is there. */
  readonly more: (() => void) | undefined;
  readonly isLoadingMore: boolean;
}

const PAGE = 200;

/** Reads a list page by page: `usePages('listUsage', { path: { tenant_id } })`. Filters belong in its input. */
export const usePages = <Name extends ListName>(
  name: Name,
  input: ListInput<Name>,
  options: { readonly refetchInterval?: number | false } = {},
): Pages<ItemOf<Name>> => {
  const { refetchInterval = false } = options;
  const call = api[name] as (input: unknown, options: unknown) => Promise<AnyPage>;
  const { query = {} }: { readonly query?: object } = input;
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [name, input, 'pages'],
    initialPageParam: 0,
    queryFn: async (read) => {
      const { signal, pageParam } = read;
      const page = await call({ ...input, query: { ...query, limit: PAGE, offset: pageParam } }, { signal });
      readAgainIfLate(read);
      return page;
    },
    getNextPageParam: ({ items, total }, _all, offset) => {
      const next = offset + items.length;
      return items.length === 0 || next >= total ? undefined : next;
    },
    placeholderData: keepPreviousData,
    refetchInterval,
  });
  return {
    items: data?.pages.flatMap(({ items }) => items as readonly ItemOf<Name>[]),
    total: data?.pages.at(-1)?.total,
    error,
    again: () => void refetch(),
    more: hasNextPage ? () => void fetchNextPage() : undefined,
    isLoadingMore: isFetchingNextPage,
  };
};
