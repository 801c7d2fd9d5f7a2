/** Layout of a report in HTML, with the colours of the live page. */
export const STYLES = `
* { box-sizing: border-box; }
body {
  max-width: 62rem; margin: 0 auto; padding: 1.5rem var(--edge) 3rem;
  background: var(--page); color: var(--text);
  font: 400 var(--type-14) / 1.45 var(--font); font-variant-numeric: tabular-nums;
}
h1, h2, p, dl, dt, dd, ul, figure { margin: 0; padding: 0; font: inherit; }
h1 { font-size: var(--type-20); font-weight: 600; }
h2 { margin-bottom: 0.5rem; font-weight: 600; }
h1, h2, p, li, dd, th, td { overflow-wrap: anywhere; unicode-bidi: isolate; }
.outcome { margin-top: 0.25rem; color: var(--text2); }
.soft { color: var(--soft); font-size: var(--type-12); }
.card {
  margin-top: 1rem; padding: 0.875rem 1rem;
  border: 1px solid var(--line); border-radius: var(--radius);
  background: var(--panel); box-shadow: var(--shadow);
}
.facts { display: flex; flex-wrap: wrap; gap: 0.5rem 2.5rem; }
dt { color: var(--soft); font-size: var(--type-12); }
dd { font-size: var(--type-20); font-weight: 600; }
.bad { color: var(--bad); }
.scroller { position: relative; overflow-x: auto; scrollbar-width: thin; }
.scroller:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { min-width: 100%; border-spacing: 0; }
th, td { padding: 0.25rem 0.625rem; border-bottom: 1px solid var(--grid); font-weight: 400; text-align: right; white-space: nowrap; }
thead :is(th, td) { border-color: var(--line); color: var(--soft); font-size: var(--type-12); }
:is(th, td):first-child { padding-left: 0; text-align: left; font-weight: 500; }
.strip { padding-right: 0; }
.strip svg { display: block; margin-left: auto; }
.scroller + :is(p, ul) { margin-top: 0.5rem; }
p, ul { color: var(--text2); }
ul { padding-left: 1.125rem; }
svg.plot, svg.rates { display: block; width: 100%; margin-top: 0.5rem; }
svg.plot, svg.rates { overflow: visible; }
svg.plot { max-width: 38rem; }
svg text { fill: var(--soft); font-size: 12px; }
.grid { stroke: var(--grid); fill: none; }
.line { fill: none; stroke: var(--p90); stroke-width: 2; }
.to-p99 { fill: none; stroke: var(--p99); stroke-width: 1.5; }
circle { fill: var(--p90); stroke: var(--panel); stroke-width: 1.5; }
.area { opacity: 0.14; }
.stroke { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
.area.tx { fill: var(--tx); } .stroke.tx { stroke: var(--tx); }
.area.rx { fill: var(--rx); } .stroke.rx { stroke: var(--rx); }
.key { margin-right: 1.25rem; color: var(--text2); font-size: var(--type-12); }
.key::before { content: ''; display: inline-block; width: 0.75rem; height: 0.1875rem; margin-right: 0.375rem; vertical-align: middle; }
.key.tx::before { background: var(--tx); } .key.rx::before { background: var(--rx); }
.heat-none { fill: var(--sunk); }
.heat0, .heat1 { fill: var(--heat1); }
.heat2 { fill: var(--heat2); } .heat3 { fill: var(--heat3); } .heat4 { fill: var(--heat4); } .heat5 { fill: var(--heat5); }
@media (max-width: 700px) {
  body { padding-top: 0.75rem; }
  .facts { gap: 0.5rem 1.5rem; }
  svg.plot text { font-size: 16px; }
  svg.rates text { font-size: 21px; }
}
@media print {
  :root, :root[data-theme] { color-scheme: light; }
  * { print-color-adjust: exact; }
  body { max-width: none; padding: 0; background: none; font-size: 10pt; }
  .card { box-shadow: none; break-inside: avoid; }
  .scroller { overflow: visible; }
  th, td { padding: 0.125rem 0.375rem; }
}
`;
