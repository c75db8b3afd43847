import java.util.Map;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;

/** Loads a table so many times with one catalog, changes it, and loads it once more; prints what it saw, a line each. */
public class Loads {
  public static void main(String[] arguments) throws Exception {
    String uri = arguments[0];
    String warehouse = arguments[1];
    TableIdentifier table = TableIdentifier.of(arguments[2], arguments[3]);
    int times = Integer.parseInt(arguments[4]);
    // No file is read; the usual FileIO would ask for Hadoop.
    Map<String, String> properties =
        Map.of("uri", uri, "warehouse", warehouse, "io-impl", "org.apache.iceberg.inmemory.InMemoryFileIO");
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("lakeward", properties);
      for (int time = 0; time < times; time++) {
        show(catalog.loadTable(table));
      }
      Table changed = catalog.loadTable(table);
      changed.updateProperties().set("seen", "yes").commit();
      show(catalog.loadTable(table));
    }
  }

  private static void show(Table table) {
    System.out.println(table.uuid() + " " + table.properties().getOrDefault("seen", "no"));
  }
}
