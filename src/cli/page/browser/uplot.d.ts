/** The page has no packages: the server has uPlot beside the page's own files. */
export { default } from 'uplot';
