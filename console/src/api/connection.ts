import { Quire, type Api } from '@quire/client';
import {
  useMutation,
  useQuery,
  keepPreviousData,
  useInfiniteQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { CALLS } from '../../../sdk/src/generated/calls.gen.ts';
import { errorOf } from '../../../sdk/src/problemError.ts';
import { bodyOf, urlOf } from '../../../sdk/src/send.ts';
import { connection, readAgainIfLate } from './send.ts';

/**
 * The service as the signed-in person sees it: `quire.api.<operationId>({ path, query, body })`, typed by the
 * service's description.
 */
export const quire = new Quire(connection);

/** Every call of the service by its operation ID. */
export const api = quire.api;

type Named = keyof Api;
type InputOf<Name extends Named> = Parameters<Api[Name]>[0];
type AnswerOf<Name extends Named> = Awaited<ReturnType<Api[Name]>>;
type AnyCall = (input: unknown, options: unknown) => Promise<unknown>;

const calls = api as unknown as Readonly<Record<Named, AnyCall>>;
const callOf = (name: Named): AnyCall => calls[name];

interface ReadOptions {
  /** False: not read yet, such as before a tenant is chosen. */
  readonly enabled?: boolean;
  /** Read again after so many milliseconds. */
  readonly refetchInterval?: number;
}

/**
 * Reads by a call of the service: `useRead('getBalance', { path: { tenant_id } })`. Its key in the cache is
 * `[name, input]`, so `queryClient.invalidateQueries({ queryKey: ['getBalance'] })` reads all balances again.
 */
export const useRead = <Name extends Named>(
  name: Name,
  input?: InputOf<Name>,
  options: ReadOptions = {},
): UseQueryResult<AnswerOf<Name>> =>
  useQuery({
    queryKey: [name, input ?? {}],
    queryFn: async (read) => {
      const answer = (await callOf(name)(input, { signal: read.signal })) as AnswerOf<Name>;
      readAgainIfLate(read);
      return answer;
    },
    ...options,
  });

/** A file is told from another by its name, size and time. */
const named = (_: string, value: unknown): unknown =>
  value instanceof File ? [value.name, value.size, value.lastModified] : value;

/**
 * Changes something by a call of the service: `const sale = useChange('addCredits')`, then `sale.mutate({ body })`.
 * What is sent keeps one idempotency key until it succeeded or its input changed: a double click or a lost answer
 * never counts twice, and a new try is the same request.
 */
export const useChange = <Name extends Named>(name: Name) => {
  const key = useRef<{ readonly of: string; readonly value: string }>(undefined);
  const running = useRef<{ readonly of: string; readonly answer: Promise<AnswerOf<Name>> }>(undefined);
  return useMutation({
    mutationKey: [name],
    mutationFn: (input: InputOf<Name>): Promise<AnswerOf<Name>> => {
      const said = JSON.stringify(input, named);
      if (running.current?.of === said) return running.current.answer;
      if (key.current?.of !== said) key.current = { of: said, value: crypto.randomUUID() };
      const answer = callOf(name)(input, { idempotencyKey: key.current.value }) as Promise<AnswerOf<Name>>;
      running.current = { of: said, answer };
      const done = (): void => {
        running.current = undefined;
      };
      answer.then(() => {
        key.current = undefined;
        done();
      }, done);
      return answer;
    },
  });
};

type Answer<Name extends keyof Api> = Awaited<ReturnType<Api[Name]>>;
interface AnyPage {
  readonly items: readonly unknown[];
  readonly total: number;
  readonly total_is_at_least?: true;
  readonly next_cursor: string | null;
}
/** The calls that answer with a page of a list. */
type ListName = { [Name in keyof Api]: Answer<Name> extends AnyPage ? Name : never }[keyof Api];
type ItemOf<Name extends ListName> = Extract<Answer<Name>, AnyPage>['items'][number];
type ListInput<Name extends ListName> = NonNullable<Parameters<Api[Name]>[0]>;
/** The members that a list may be sorted by. */
type SortOf<Name extends ListName> = keyof ItemOf<Name> & string;

/** The order and the rows of a list that a person wants to see. */
export interface Wanted {
  /** Text that the rows have; empty: all rows. */
  readonly q: string;
  /** The column to sort by; undefined: the order of the list. */
  readonly sort: { readonly id: string; readonly desc: boolean } | undefined;
}

const ALL: Wanted = { q: '', sort: undefined };

/** A list that the service sorts and searches. */
interface Asking {
  /** As the rows that are shown were asked for, or are being asked for. */
  readonly wanted: Wanted;
  readonly ask: (wanted: Wanted) => void;
  /** IDs of the columns that it can be sorted by. */
  readonly sorts: readonly string[];
}

/** A list as far as it was loaded. */
export interface Pages<Item, First = unknown> {
  /** undefined: the first page is being loaded. */
  readonly items: readonly Item[] | undefined;
  /** The answer with the first page; sums in it are of the whole list. */
  readonly first: First | undefined;
  readonly total: number | undefined;
  /** There may be more than `total`. */
  readonly isAtLeast: boolean;
  /** undefined: the service knows one order of it, and does not search it. */
  readonly asking: Asking | undefined;
  /** The rows are still those of what was asked for before. */
  readonly isChanging: boolean;
  readonly error: unknown;
  readonly again: () => void;
  /** undefined: all of it is there. */
  readonly more: (() => void) | undefined;
  readonly isLoadingMore: boolean;
  /** Every row that is asked for, loaded or not, as the service writes it for spreadsheets. */
  readonly csv: (() => Promise<Blob>) | undefined;
}

const PAGE = 200;

/** The media type of a workbook. */
export const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/**
 * An answer as a file of a media type, as the service writes it: `fileOf('getReceipt', input, 'application/pdf')`.
 * What is sent for it is nothing or a form.
 */
export const fileOf = async <Name extends Named>(
  name: Name,
  input: NonNullable<InputOf<Name>>,
  type: 'text/csv' | 'application/pdf' | typeof XLSX,
): Promise<Blob> => {
  const call = CALLS[name];
  const body = bodyOf(call, input);
  const response = await connection.fetch(urlOf(connection.url, call, input), {
    method: call.method,
    headers: { accept: type },
    ...(body === undefined ? {} : { body }),
  });
  if (!response.ok) throw await errorOf(response);
  return response.blob();
};

/** What a path answers as a file of a media type, for calls whose answer is no JSON otherwise. */
export const fileAt = async (path: string, type: string): Promise<Blob> => {
  const response = await connection.fetch(`${connection.url}${path}`, { headers: { accept: type } });
  if (!response.ok) throw await errorOf(response);
  return response.blob();
};

/** All rows of an answer with `items`, as CSV by which a spreadsheet knows UTF-8. */
export const csvOf = <Name extends Named>(name: Name, input: NonNullable<InputOf<Name>>): Promise<Blob> => {
  const { query = {} }: { readonly query?: object } = input;
  return fileOf(name, { ...input, query: { ...query, bom: true } }, 'text/csv');
};

interface PagesOptions<Name extends ListName> {
  readonly refetchInterval?: number | false;
  /** The member that each column is sorted by, by the column's ID; left out: the list is as the service has it. */
  readonly sorts?: Readonly<Record<string, SortOf<Name>>>;
}

const asQuery = ({ q, sort }: Wanted, sorts: Readonly<Record<string, string>>): object => {
  const by = sort && sorts[sort.id];
  return {
    ...(q !== '' && { q }),
    ...(by !== undefined && { sort: sort?.desc === true ? `-${by}` : by }),
  };
};

/** The query of a list with what a person wants to see of it; `sorts` is the same object at each drawing. */
const useWanted = (given: object, sorts: Readonly<Record<string, string>> | undefined) => {
  const [wanted, ask] = useState(ALL);
  const asking = useMemo(() => sorts && { wanted, ask, sorts: Object.keys(sorts) }, [wanted, sorts]);
  return { asking, query: { ...given, ...asQuery(wanted, sorts ?? {}) } };
};

interface Loaded {
  readonly pages: readonly AnyPage[];
}

/** The rows of all pages that are there: the same array until a page comes, so that a table looks through it once. */
const useLoaded = (data: Loaded | undefined) =>
  useMemo(() => {
    const [first] = data?.pages ?? [];
    return {
      items: data?.pages.flatMap(({ items }) => items),
      first,
      total: data?.pages.at(-1)?.total,
      isAtLeast: first?.total_is_at_least === true,
    };
  }, [data]);

/** Reads a list page by page: `usePages('listUsage', { path: { tenant_id } })`. Filters belong in its input. */
export const usePages = <Name extends ListName>(
  name: Name,
  input: ListInput<Name>,
  { refetchInterval = false, sorts }: PagesOptions<Name> = {},
): Pages<ItemOf<Name>, Answer<Name>> => {
  const call = api[name] as (input: unknown, options: unknown) => Promise<AnyPage>;
  const { query: given = {} }: { readonly query?: object } = input;
  const { asking, query } = useWanted(given, sorts);
  const read = useInfiniteQuery({
    queryKey: [name, { ...input, query }, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: async (asked) => {
      const { signal, pageParam } = asked;
      const page = await call({ ...input, query: { ...query, limit: PAGE, cursor: pageParam } }, { signal });
      readAgainIfLate(asked);
      return page;
    },
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval,
  });
  const { items, first, ...loaded } = useLoaded(read.data);
  return {
    ...loaded,
    items: items as readonly ItemOf<Name>[] | undefined,
    first: first as Answer<Name> | undefined,
    asking,
    isChanging: read.isPlaceholderData,
    error: read.error,
    again: () => void read.refetch(),
    more: read.hasNextPage ? () => void read.fetchNextPage() : undefined,
    isLoadingMore: read.isFetchingNextPage,
    csv: () => csvOf(name, { ...input, query }),
  };
};

/**
 * A form that moves credits or money. It has one identity from when it is opened, whatever is typed into it:
 * a second click joins the first, and a new try after a lost answer is the same booking, also if its input was
 * changed in between (the service then refuses it instead of booking twice). Only a 2xx answer binds the identity.
 */
export const useBooking = <Name extends Named>(name: Name) => {
  const [identity] = useState(() => crypto.randomUUID());
  const running = useRef<Promise<AnswerOf<Name>>>(undefined);
  const call = (api as unknown as Readonly<Record<Named, AnyCall>>)[name];
  const booking = useMutation({
    mutationKey: [name],
    mutationFn: (input: InputOf<Name>): Promise<AnswerOf<Name>> => {
      if (running.current !== undefined) return running.current;
      const answer = call(input, { idempotencyKey: identity }) as Promise<AnswerOf<Name>>;
      running.current = answer;
      const done = (): void => {
        running.current = undefined;
      };
      answer.then(done, done);
      return answer;
    },
  });
  return { ...booking, identity };
};
