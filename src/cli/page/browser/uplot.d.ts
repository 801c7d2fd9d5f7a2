/** Types of uPlot for the page. A browser has no packages: the server has uPlot's file under this name. */
export { default } from 'uplot';
