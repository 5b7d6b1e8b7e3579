import type { ComponentChildren, JSX } from "preact";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Field } from "./query.ts";

export interface Column<Row> extends Field<Row> {
  readonly title: string;
  /** A width of CSS grid: "2fr", "90px". */
  readonly width: string;
  readonly isNumber?: true;
  /** The column is left out of a table that is narrower, px. */
  readonly from?: number;
  readonly cell: (row: Row) => ComponentChildren;
}

interface GridProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** "price" or "-price". */
  readonly order: string;
  readonly onOrder: (order: string) => void;
  /** Key of the row that is open. */
  readonly open?: string | undefined;
  readonly onOpen?: (key: string) => void;
  /** Shown in place of rows where there are none. */
  readonly empty: string;
}

/** Height of a row, px; page.css has the same. */
const ROW_PX = 36;
/** Least height of a table, px: room for a sentence in place of rows. */
const MIN_GRID_PX = 110;
/** Rows that are drawn beyond what is seen, so that a fast wheel shows no gap. */
const SPARE_ROWS = 6;

/**
 * A table of any length: only the rows in sight are in the document. The table has one place in the order of Tab; arrow
 * keys, Page Up and Down, Home and End move through it, Enter opens a row.
 */
export function Grid<Row>({ label, columns: all, rows, keyOf, order, onOrder, open, onOpen, empty }: GridProps<Row>): JSX.Element {
  const body = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [{ width, height }, setSize] = useState({ width: 1_200, height: 600 });
  const [active, setActive] = useState(0);
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // A search that leaves fewer rows shows them from the first.
  useEffect(() => {
    if (active >= rows.length) setActive(0);
  }, [rows.length, active]);
  const first = Math.max(0, Math.floor(top / ROW_PX) - SPARE_ROWS);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + SPARE_ROWS);
  const columns = useMemo(() => all.filter(({ from = 0 }) => width >= from), [all, width]);
  const template = columns.map(({ width }) => width).join(" ");
  const page = Math.max(1, Math.floor(height / ROW_PX) - 1);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: rows.length - 1,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[active];
    if (event.key === "Enter" && row !== undefined) onOpen?.(keyOf(row));
    const target = moves[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = Math.min(rows.length - 1, Math.max(0, target));
    setActive(next);
    const element = body.current;
    if (element === null) return;
    if (next * ROW_PX < element.scrollTop) element.scrollTop = next * ROW_PX;
    if ((next + 1) * ROW_PX > element.scrollTop + element.clientHeight) element.scrollTop = (next + 1) * ROW_PX - element.clientHeight;
  };
  const idOf = (index: number): string => `row-${label.replaceAll(" ", "-")}-${index}`;
  const shown = rows.slice(first, last);
  // A row that leaves the sight lends its elements to one that comes: to change texts is much cheaper than to make
  // elements, which is what a fast wheel would do with thousands of rows.
  const slots = Math.ceil(height / ROW_PX) + 2 * SPARE_ROWS + 2;
  return (
    <div
      class="grid"
      style={{ flexBasis: `${Math.max(MIN_GRID_PX, (rows.length + 1) * ROW_PX + 2)}px` }}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      tabIndex={0}
      onKeyDown={onKeyDown}
      {...(rows.length > 0 && active >= first && active < last && { "aria-activedescendant": idOf(active) })}
    >
      <div role="rowgroup">
        <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template, width: `${width}px` }}>
          {columns.map((column) => (
            <HeadCell key={column.key} column={column} order={order} onOrder={onOrder} />
          ))}
        </div>
      </div>
      <div class="grid-body" role="rowgroup" ref={body} onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}>
        {rows.length === 0 && (
          <div role="row">
            <div role="gridcell" class="empty">
              {empty}
            </div>
          </div>
        )}
        <div class="grid-rows" role="presentation" style={{ height: `${rows.length * ROW_PX}px` }}>
          {shown.map((row, i) => (
            <GridRow
              key={(first + i) % slots}
              id={idOf(first + i)}
              row={row}
              index={first + i}
              columns={columns}
              template={template}
              isActive={first + i === active}
              isOpen={keyOf(row) === open}
              onPick={() => {
                setActive(first + i);
                onOpen?.(keyOf(row));
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly order: string;
  readonly onOrder: (order: string) => void;
}

function HeadCell<Row>({ column: { key, title, isNumber }, order, onOrder }: HeadCellProps<Row>): JSX.Element {
  const direction = order === key ? "ascending" : order === `-${key}` ? "descending" : "none";
  // Numbers are most often looked at from the largest down.
  const next = direction === "none" ? (isNumber ? `-${key}` : key) : direction === "ascending" ? `-${key}` : key;
  return (
    <div role="columnheader" aria-sort={direction} class={isNumber ? "number" : ""}>
      <button type="button" class="sort" onClick={() => onOrder(next)}>
        {title}
        <span class="arrow" aria-hidden="true">
          {direction === "ascending" ? "↑" : direction === "descending" ? "↓" : ""}
        </span>
      </button>
    </div>
  );
}

interface RowProps<Row> {
  readonly id: string;
  readonly row: Row;
  readonly index: number;
  readonly columns: readonly Column<Row>[];
  readonly template: string;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onPick: () => void;
}

function PlainRow<Row>({ id, row, index, columns, template, isActive, isOpen, onPick }: RowProps<Row>): JSX.Element {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid around it takes the keys
    <div
      id={id}
      role="row"
      tabIndex={-1}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      class={`grid-row${isActive ? " active" : ""}${isOpen ? " open" : ""}`}
      style={{ gridTemplateColumns: template, transform: `translateY(${index * ROW_PX}px)` }}
      onClick={onPick}
    >
      {columns.map(({ key, isNumber, cell }) => (
        <div key={key} role="gridcell" class={isNumber ? "number" : ""}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}

/** A row is drawn again only when something of it has changed, which keeps scrolling fluent. */
const GridRow = memo(
  PlainRow,
  (a, b) => a.row === b.row && a.index === b.index && a.columns === b.columns && a.isActive === b.isActive && a.isOpen === b.isOpen,
) as typeof PlainRow;
