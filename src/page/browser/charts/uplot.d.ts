/** Types of uPlot for the page. A browser finds no packages: the server serves uPlot's file under this name. */
export { default } from 'uplot';
