/** What is to happen, in the order of its time: the clock of a simulation, milliseconds from 0. */
export interface Agenda {
  readonly now: () => number;
  /** Does it so much later; of two things at one time, first what was asked for first. */
  readonly after: (ms: number, action: () => void) => void;
  /** Does all that is due up to then, and stops there. */
  readonly runUntil: (ms: number) => void;
}

interface Due {
  readonly at: number;
  readonly serial: number;
  readonly action: () => void;
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.serial < b.serial);

const siftUp = (heap: Due[], due: Due): void => {
  let at = heap.length;
  heap.push(due);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    const above = heap[parent]!;
    if (isBefore(above, due)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = due;
};

const smallerChild = (heap: readonly Due[], at: number): number => {
  const left = 2 * at + 1;
  const right = left + 1;
  return right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left;
};

const takeFirst = (heap: Due[]): Due => {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let at = 0;
  for (let child = smallerChild(heap, at); child < heap.length; child = smallerChild(heap, at)) {
    if (isBefore(last, heap[child]!)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
};

/** An empty agenda at time 0. It knows no randomness: the same actions happen in the same order. */
export const newAgenda = (): Agenda => {
  const heap: Due[] = [];
  let now = 0;
  let serial = 0;
  return {
    now: () => now,
    after: (ms, action) => {
      serial += 1;
      siftUp(heap, { at: now + Math.max(0, ms), serial, action });
    },
    runUntil: (end) => {
      while (heap.length > 0 && heap[0]!.at <= end) {
        const due = takeFirst(heap);
        now = due.at;
        due.action();
      }
      now = end;
    },
  };
};
