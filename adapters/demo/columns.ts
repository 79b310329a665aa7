import type { Crossing } from "./transcript.js";

export interface Terminal {
  readonly width: number;
  readonly colour: boolean;
}

/** Lines a message may take in a column; the rest is cut with an ellipsis. */
const MOST_LINES = 6;
const NARROWEST = 84;
const WIDEST = 200;
const GUTTER = " │ ";
const INDENT = "    ";

const COLOURS = { request: 36, answer: 32, question: 33, error: 31, notice: 35, dim: 2, bold: 1 };

function paint(terminal: Terminal, colour: keyof typeof COLOURS, text: string): string {
  return terminal.colour ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}

/** Breaks a text at spaces, or where there is none, into lines of at most `width`. */
function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const cut = space > width / 2 ? space : width;
    lines.push(rest.slice(0, cut));
    rest = rest.slice(cut).trimStart();
  }
  return [...lines, rest];
}

interface Line {
  readonly text: string;
  readonly colour: keyof typeof COLOURS;
}

/** A message as lines of at most `width` characters; the first tells what it is. */
function toLines(crossing: Crossing, width: number): readonly Line[] {
  const { title, facts, tone } = crossing.description;
  const arrow = crossing.direction === "up" ? "──▶" : "◀──";
  const heads = wrap(title, width - arrow.length - 1).map((text, index): Line => {
    const lead = index === 0 ? `${arrow} ` : INDENT;
    return { text: lead + text, colour: tone };
  });
  const details = facts.flatMap((fact) =>
    wrap(fact, width - INDENT.length).map((text): Line => ({ text: INDENT + text, colour: "dim" })),
  );
  const lines = [...heads, ...details];
  if (lines.length <= MOST_LINES) return lines;
  const last = lines[MOST_LINES - 1]?.text ?? "";
  const cut = last.length >= width - 1 ? last.slice(0, width - 2) : last;
  return [...lines.slice(0, MOST_LINES - 1), { text: `${cut} …`, colour: "dim" }];
}

type Row = Partial<Record<Crossing["side"], Crossing>>;

/** A message and the one it caused on the other side share a row. */
function toRows(crossings: readonly Crossing[]): readonly Row[] {
  const rows: Row[] = [];
  for (const crossing of crossings) {
    const last = rows.at(-1);
    const [before] = Object.values(last ?? {});
    const fits =
      last !== undefined &&
      Object.keys(last).length === 1 &&
      last[crossing.side] === undefined &&
      before?.direction === crossing.direction;
    if (fits) last[crossing.side] = crossing;
    else rows.push({ [crossing.side]: crossing });
  }
  return rows;
}

function cell(terminal: Terminal, line: Line | undefined, width: number): string {
  if (line === undefined) return " ".repeat(width);
  return (
    paint(terminal, line.colour, line.text) + " ".repeat(Math.max(0, width - line.text.length))
  );
}

const HEADS = {
  client: "client and bridge: modern, 2026-07-28",
  server: "bridge and server: legacy, 2025-11-25",
} as const;

/** Prints crossings side by side, or one below the other where the terminal is too narrow. */
export function formatCrossings(crossings: readonly Crossing[], terminal: Terminal): string {
  if (terminal.width < NARROWEST) {
    return crossings
      .flatMap((crossing) => {
        const who = crossing.side === "client" ? "[client] " : "[server] ";
        return toLines(crossing, terminal.width - who.length).map((line, index) => {
          const lead = index === 0 ? who : " ".repeat(who.length);
          return lead + paint(terminal, line.colour, line.text);
        });
      })
      .join("\n");
  }
  const width = Math.floor((Math.min(terminal.width, WIDEST) - GUTTER.length) / 2);
  const out: string[] = [];
  for (const row of toRows(crossings)) {
    const left = row.client === undefined ? [] : toLines(row.client, width);
    const right = row.server === undefined ? [] : toLines(row.server, width);
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const cells = [cell(terminal, left[index], width), cell(terminal, right[index], width)];
      out.push(cells.join(GUTTER).trimEnd());
    }
  }
  return out.join("\n");
}

/** The two eras above their columns. */
export function formatHead(terminal: Terminal): string {
  if (terminal.width < NARROWEST) return `[client] ${HEADS.client}\n[server] ${HEADS.server}`;
  const width = Math.floor((Math.min(terminal.width, WIDEST) - GUTTER.length) / 2);
  const head = `${HEADS.client.padEnd(width)}${GUTTER}${HEADS.server}`;
  return `${paint(terminal, "bold", head)}\n${"─".repeat(width)}─┼─${"─".repeat(width)}`;
}

/** A sentence about what comes or came, broken to the terminal's width. */
export function formatText(text: string, terminal: Terminal, colour: "bold" | "answer"): string {
  const lines = wrap(text, Math.min(terminal.width, WIDEST));
  return lines.map((line) => paint(terminal, colour, line)).join("\n");
}
