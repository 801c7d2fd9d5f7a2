/** Small lines without axes. */
import { setAttribute, svg } from './common/dom.js';
import { HEIGHT, pathsOf, type Spark } from './spark-paths.js';

/** Makes an empty sparkline, which fills its place. */
export function sparkElement(): SVGElement {
  return svg(
    'svg',
    { preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { class: 'area' }),
    svg('path', { class: 'line' }),
  );
}

export function setSpark(node: Element, spark: Spark): void {
  const { line, area } = pathsOf(spark);
  setAttribute(node, 'viewBox', `0 0 ${spark.to - spark.from} ${HEIGHT}`);
  setAttribute(node.children[0]!, 'd', area);
  setAttribute(node.children[1]!, 'd', line);
}
