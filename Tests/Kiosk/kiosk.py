"""What pages, users and other programs do with the kiosk's window: all tests, with those that share a window side by side."""
from hostile import connections, cut_file, flood, huge_answers, huge_messages, left_behind, long_questions, long_texts, many_lines, no_way_out, too_much_memory
from lifetime import abandoned, daemon_restart, given_up, hanging, killed, network, not_pages, opened_early, reloaded, start_up_queue, unready
from media import foreign_media, read_media, write_media
from originals import book, echo_page, evaluated, example_app, own_bridge, reset_bridge, strict_page
from permissions import download, download_folder, kept_data, set_cookies, owners_settings, position, refused, set_cookies
from screens import each_size, keyboard_room, manager_later, small_screen, two_monitors, with_manager
from strangers import asked_navigation, foreign_frame, foreign_frame_with_url_calls, hidden_files, nothing_connects, other_programs_links
from turns import asked_in_a_swap, crash_of_none, fallback_page, no_white, opened_in_turn, pages_in_turn, passed_over, times_of_pages
from ways_in import location_calls, many_bridge, many_frames, many_links, many_make_call, many_messages, many_schemes, named_functions, ten_thousand
from windows import dialogs, message_log, page_file, service_watchdog, silent_visitor, window_keys, wrong_use

ALL = [
    book, example_app, echo_page, reset_bridge, own_bridge, strict_page, evaluated, named_functions, many_make_call, many_bridge, many_messages, many_links, many_frames,
    location_calls, ten_thousand, flood, huge_messages, cut_file, connections, left_behind, many_lines, hidden_files, position, refused, daemon_restart, many_schemes, other_programs_links, message_log, page_file,
    foreign_frame_with_url_calls, foreign_frame, asked_navigation, nothing_connects, download, download_folder, read_media, write_media, foreign_media, kept_data, set_cookies, owners_settings, killed, dialogs, no_way_out,
    long_texts, too_much_memory, huge_answers, long_questions, hanging, network, unready, given_up, not_pages, window_keys, silent_visitor, service_watchdog, start_up_queue, opened_early, reloaded, abandoned, wrong_use,
    pages_in_turn, no_white, passed_over, fallback_page, times_of_pages, opened_in_turn, asked_in_a_swap, crash_of_none,
    each_size, two_monitors, with_manager, manager_later, small_screen, keyboard_room,
]
