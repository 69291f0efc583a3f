/** Pairs of row and column that maximise the sum of a matrix of weights (Hungarian method, O(n²m)). */
export function bestPairs(weights: readonly (readonly number[])[]): readonly (readonly [number, number])[] {
  const columns = weights[0]?.length ?? 0;
  if (weights.length === 0 || columns === 0) return [];
  if (weights.length > columns) {
    const turned = Array.from({ length: columns }, (_, j) => weights.map((row) => row[j] ?? 0));
    return bestPairs(turned).map(([j, i]) => [i, j]);
  }
  const state = { rows: zeros(weights.length), columns: zeros(columns), owner: zeros(columns) };
  for (let row = 1; row <= weights.length; row += 1) place(row, weights, state);
  return state.owner.slice(1).flatMap((row, j) => (row > 0 ? [[row - 1, j] as const] : []));
}

/** Places count from 1; place 0 stands for "not yet". */
const zeros = (count: number): number[] => Array.from({ length: count + 1 }, () => 0);

interface Potentials {
  readonly rows: number[];
  readonly columns: number[];
  /** The row that a column is given to. */
  readonly owner: number[];
}

function place(row: number, weights: readonly (readonly number[])[], state: Potentials): void {
  const { owner } = state;
  const search = {
    least: owner.map(() => Number.POSITIVE_INFINITY),
    used: owner.map(() => false),
    way: owner.map(() => 0),
  };
  owner[0] = row;
  let column = 0;
  do {
    search.used[column] = true;
    column = nextColumn(column, weights, { ...state, ...search });
  } while (owner[column] !== 0);
  while (column !== 0) {
    const before = search.way[column] ?? 0;
    owner[column] = owner[before] ?? 0;
    column = before;
  }
}

interface Search extends Potentials {
  readonly least: number[];
  readonly used: readonly boolean[];
  readonly way: number[];
}

/** Grows the tree of alternating paths by the cheapest column, and keeps the potentials feasible. */
function nextColumn(column: number, weights: readonly (readonly number[])[], search: Search): number {
  relax(column, weights, search);
  const { least, used } = search;
  let next = 0;
  let delta = Number.POSITIVE_INFINITY;
  for (const [j, reached] of least.entries())
    if (j > 0 && used[j] !== true && reached < delta) [delta, next] = [reached, j];
  shift(delta, search);
  return next;
}

/** What each free column costs at least, now that one more is in the tree. */
function relax(column: number, weights: readonly (readonly number[])[], search: Search): void {
  const { rows, columns, owner, least, used, way } = search;
  const row = owner[column] ?? 0;
  const potential = rows[row] ?? 0;
  for (const [place, weight] of (weights[row - 1] ?? []).entries()) {
    const j = place + 1;
    const cost = -weight - potential - (columns[j] ?? 0);
    if (used[j] === true || cost >= (least[j] ?? 0)) continue;
    least[j] = cost;
    way[j] = column;
  }
}

function shift(delta: number, { rows, columns, owner, least, used }: Search): void {
  for (const [j, at] of owner.entries()) {
    if (used[j] === true) {
      rows[at] = (rows[at] ?? 0) + delta;
      columns[j] = (columns[j] ?? 0) - delta;
    } else least[j] = (least[j] ?? 0) - delta;
  }
}
