import { z } from 'zod';

/** Objects inside of objects have columns of their own down to here; deeper ones are JSON in one cell. */
const DEPTH_MAX = 3;

/** A column: the way from an item to its value. */
export type Column = readonly string[];

/** What a schema says of the value itself, without what may stand in its place. */
const plain = (schema: z.ZodType): z.ZodType => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return plain(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodPipe ? plain(schema.out as z.ZodType) : schema;
};

const columnsOf = (schema: z.ZodType, path: Column = []): readonly Column[] => {
  const value = plain(schema);
  if (value instanceof z.ZodUnion) {
    const kinds = value.options.map((one) => plain(one as z.ZodType));
    if (!kinds.every((one) => one instanceof z.ZodObject)) return [path];
    const columns = kinds.flatMap((one) => columnsOf(one, path)).map((one) => [one.join('.'), one] as const);
    return [...new Map(columns).values()];
  }
  if (!(value instanceof z.ZodObject) || path.length === DEPTH_MAX) return [path];
  return Object.entries(value.shape).flatMap(([name, member]) =>
    columnsOf(member as z.ZodType, [...path, name]),
  );
};

/** The facts of a route that say whether it answers with a list. */
interface Listing {
  readonly method: string;
  readonly reply: object;
}

/** The columns of a route's list; undefined for a route that answers with no list. */
export const csvColumns = ({ method, reply }: Listing): readonly Column[] | undefined => {
  if (method !== 'get' || !('schema' in reply) || !(reply.schema instanceof z.ZodObject)) return undefined;
  const { items } = reply.schema.shape;
  if (!(items instanceof z.ZodArray)) return undefined;
  const columns = columnsOf(items.element as z.ZodType);
  return columns.every(({ length }) => length > 0) ? columns : undefined;
};

/** The parameter that every list takes beside its own. */
const bomIn = z
  .enum(['true', 'false', '1', '0'])
  .transform((text) => text === 'true' || text === '1')
  .meta({ 'x-wire': { type: 'boolean' } })
  .optional();

/** A list's query with the parameters of its CSV. */
export const withCsvQuery = (route: Listing, query: z.ZodType | undefined): z.ZodType | undefined => {
  if (csvColumns(route) === undefined) return query;
  if (query === undefined) return z.object({ bom: bomIn });
  if (query instanceof z.ZodPipe && query.in instanceof z.ZodObject)
    return query.in.safeExtend({ bom: bomIn }).pipe(query.out as z.ZodType<unknown, Record<string, unknown>>);
  return query instanceof z.ZodObject ? query.safeExtend({ bom: bomIn }) : query;
};
