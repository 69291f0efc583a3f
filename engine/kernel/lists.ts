/** Adds an item to the list of its key, which begins with the first. */
export function addTo<K, Item>(lists: Map<K, Item[]>, key: K, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** Items by their keys: both in the order in which they come. */
export function groupedBy<K, Item>(items: Iterable<Item>, keyOf: (item: Item) => K): Map<K, Item[]> {
  const lists = new Map<K, Item[]>();
  for (const item of items) addTo(lists, keyOf(item), item);
  return lists;
}

/** Of `length` places, of which none before the first that holds does, and all after it do: that one, by halving. */
export function firstPlace(length: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
