/** The figures of a chart for screen readers. */
export function FiguresTable({
  label,
  names,
  rows,
}: {
  label: string;
  names: readonly string[];
  rows: readonly (readonly string[])[];
}) {
  // A table does not shrink to what hides it: the frame around it does.
  return (
    <div className="sr-only">
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <td />
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([head, ...cells]) => (
            <tr key={head}>
              <th scope="row">{head}</th>
              {cells.map((text, index) => (
                <td key={names[index]}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
