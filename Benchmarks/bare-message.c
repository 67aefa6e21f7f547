// The least that WebKitGTK can do: a page posts a message, and the window answers it at once. The page's result goes to
// standard output. Usage: bare-message ADDRESS
#include <webkit2/webkit2.h>

static gboolean answer(WebKitUserContentManager *manager, JSCValue *value, WebKitScriptMessageReply *reply, gpointer data) {
	webkit_script_message_reply_return_value(reply, value);
	return TRUE;
}

static void titled(WebKitWebView *view, GParamSpec *property, gpointer data) {
	const char *title = webkit_web_view_get_title(view);
	if (title && title[0] == '{') {
		puts(title);
		gtk_main_quit();
	}
}

int main(int count, char **words) {
	gtk_init(&count, &words);
	WebKitUserContentManager *manager = webkit_user_content_manager_new();
	g_signal_connect(manager, "script-message-with-reply-received::bare", G_CALLBACK(answer), NULL);
	webkit_user_content_manager_register_script_message_handler_with_reply(manager, "bare", NULL);
	WebKitWebView *view = WEBKIT_WEB_VIEW(webkit_web_view_new_with_user_content_manager(manager));
	g_signal_connect(view, "notify::title", G_CALLBACK(titled), NULL);
	GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
	gtk_container_add(GTK_CONTAINER(window), GTK_WIDGET(view));
	gtk_widget_show_all(window);
	webkit_web_view_load_uri(view, words[1]);
	gtk_main();
	return 0;
}
